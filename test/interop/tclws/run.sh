exec tclsh client.tcl "$@"
