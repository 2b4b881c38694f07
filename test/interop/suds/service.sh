export PYTHONPATH=../python
exec /usr/bin/python3 service.py "$@"
