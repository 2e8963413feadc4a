before() { echo one; }
size=1

if true; then
    echo "missing fi"

)

after() { echo two; }
