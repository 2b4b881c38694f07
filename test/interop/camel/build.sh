. ../spring-ws/build.sh # with this folder's lib and Client.java
