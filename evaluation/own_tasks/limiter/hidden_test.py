from shop.limiter import Bucket


def test_the_wait_is_rounded_up_and_has_a_second_for_the_clocks():
    bucket = Bucket(0.0)
    bucket.take(0.0, 100)
    assert bucket.wait() == 2
    assert bucket.wait(20) == 3


def test_nobody_waits_longer_than_a_minute():
    bucket = Bucket(0.0)
    bucket.take(0.0, 100)
    assert bucket.wait(5_000) == 60
