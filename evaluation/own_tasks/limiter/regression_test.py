from shop.limiter import Bucket


def test_a_client_that_waited_is_served():
    bucket = Bucket(0.0)
    bucket.take(0.0, 100)
    assert bucket.take(float(bucket.wait()))
