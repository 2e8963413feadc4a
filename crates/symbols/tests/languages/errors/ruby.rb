def before(a)
  a
end

broken = = 3

class After
  def last
    2
  end
end
