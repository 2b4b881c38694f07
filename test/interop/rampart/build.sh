. ../axis2/build.sh # with this folder's lib and Security.java
mkdir -p "$out/repository/modules" # where Axis2 searches for modules
cp lib/rampart-*.mar "$out/repository/modules"
