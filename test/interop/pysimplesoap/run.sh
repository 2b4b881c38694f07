export PYTHONPATH=../python
exec /usr/bin/python3 client.py "$@"
