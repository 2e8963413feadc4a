<?php
// Orders. class Commented {}
declare(strict_types=1);

namespace Shop\Orders;

use Countable;
use function strlen as length;

const LIMIT = 10, OTHER = 2;
define('LEGACY', 'class InString {}');
$counter = 0;

interface Shape extends Countable
{
    const SIDES = 0;
    public function area(): float;
}

trait Loggable
{
    protected array $lines = [];

    public function log(string $text): void
    {
        $this->lines[] = $text;
    }
}

enum Status: string
{
    case Open = 'open';
    case Closed = 'closed';
    const DEFAULT = self::Open;

    public static function parse(string $text): self
    {
        return self::Open;
    }
}

#[Entity(table: 'orders')]
abstract class Order implements Shape
{
    use Loggable;

    public const int VERSION = 1;
    private static ?Order $last = null;
    protected int $count = 0, $total = 0;
    public readonly string $name;
    var $legacy;
    public string $title {
        get => $this->name;
    }

    public function __construct(
        private readonly int $id,
        protected string $label = 'none',
        int $plain = 0,
    ) {
        $local = $id;
    }

    abstract public function total(): float;

    final public static function create(int ...$ids): static
    {
        function inner_function() {}
        $closure = function (int $n) { return $n; };
        $arrow = fn ($n) => $n * 2;
        $anonymous = new class {
            public int $inside = 1;
            public function run() {}
        };
        return new static(1);
    }

    public function &reference(): array
    {
        return $this->lines;
    }
}

final readonly class Point extends Order
{
    public function total(): float { return 0.0; }
}

function largest(int $a, int $b): int
{
    static $calls = 0;
    return $a > $b ? $a : $b;
}

$twice = function (int $n) { return $n * 2; };
$half = fn (int $n): int => intdiv($n, 2);
$text = <<<TEXT
function inHeredoc() {}
TEXT;

if (!function_exists('helper')) {
    function helper() {}
}
?>
<p>function inMarkup() {}</p>
