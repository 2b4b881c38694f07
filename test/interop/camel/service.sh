. ../spring-ws/service.sh # with this folder's lib and programs
