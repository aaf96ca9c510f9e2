"""People who label answers: tasks, the queue, quality, adjudication, files of labels."""
