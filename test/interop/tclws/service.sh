exec tclsh service.tcl "$@"
