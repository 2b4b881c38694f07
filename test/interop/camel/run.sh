. ../spring-ws/run.sh
