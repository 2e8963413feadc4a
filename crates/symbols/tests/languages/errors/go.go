package broken

func before(a int) int { return a }

func unfinished(a int { return a + }

type After struct {
	Member int
}

func (a After) last() int { return 2 }
