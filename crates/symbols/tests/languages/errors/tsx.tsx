const Before = () => <p>one</p>;

const broken = <p>{a +}</p>;

function After() {
  return <p>two</p>;
}
