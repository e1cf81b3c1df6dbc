// Webhooks: a reader of the feed that posts what it reads, in order, until it is taken.
