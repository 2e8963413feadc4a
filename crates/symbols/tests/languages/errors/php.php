<?php
function before(int $a): int { return $a; }

$broken = = 3;

class After
{
    public function last(): int { return 2; }
}
