// Package store keeps records. func commented() {}
package store

import (
	"fmt"
	io "io"
)

const Version = "1.2"

const (
	Red = iota
	Green
	Blue, _ = 5, 6
)

var (
	ErrMissing    = fmt.Errorf("missing: func quoted() {}")
	width, height int
)

var cache map[string]*Record
var handler = func(n int) int { return n }
var config struct {
	debug, trace bool
}
var _ io.Reader = (*File)(nil)

type ID int64
type Alias = map[string]int
type Handler func(w io.Writer, n int) error

type (
	Record struct {
		ID, Parent ID
		Name       string `json:"name"`
		io.Reader
		*Node
		nested struct {
			depth int
		}
		callback func(int) error
	}
	Pair[K comparable, V any] struct {
		Key K
		Val V
	}
)

type Node struct{ left, right *Node }

type Store interface {
	io.Closer
	Get(id ID) (*Record, error)
	Put(*Record) error
}

type Number interface {
	~int | ~float64
}

func New(path string) (*File, error) {
	const local = 1
	var other = 2
	short := 3
	type inner struct{ n int }
	helper := func(n int) int { return n }
	_ = inner{n: local + other + short + helper(1)}
	return &File{}, nil
}

type File struct{}

func (f *File) Get(id ID) (*Record, error) {
	return nil, ErrMissing
}

func (File) Close() error { return nil }

func (p *Pair[K, V]) Swap(
	key K,
	val V,
) (old V) {
	old = p.Val
	return
}

func Map[T, U any](items []T, f func(T) U) []U {
	var out []U
	for _, item := range items {
		out = append(out, f(item))
	}
	return out
}

func init() {
	raw := `
func inRawString() {}
`
	_ = raw
}

func external(n int) int
