"""The account for dramatiq's tests. Their source package lacks this module."""
import pika
import pytest

RABBITMQ_USERNAME = RABBITMQ_PASSWORD = "guest"
RABBITMQ_CREDENTIALS = pika.PlainCredentials(RABBITMQ_USERNAME, RABBITMQ_PASSWORD)
skip_unless_rabbit_mq = pytest.mark.skipif(False, reason="there is a broker")
