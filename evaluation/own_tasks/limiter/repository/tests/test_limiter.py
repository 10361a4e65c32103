from shop.limiter import Bucket


def test_a_bucket_gives_what_it_has():
    bucket = Bucket(0.0)
    assert bucket.take(0.0, 100)
    assert not bucket.take(0.0)
