class Before {
  def get: Int = 1
}

val broken = = 3

class After {
  def last: Int = 2
}
