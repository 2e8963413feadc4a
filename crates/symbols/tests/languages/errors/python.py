def before(a):
    return a


broken = = 3
def unfinished(a:
    return a


class After:
    def last(self):
        return 2
