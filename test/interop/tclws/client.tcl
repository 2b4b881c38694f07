# Makes the checks with tclws, which supports only SOAP 1.1.

package require WS::Client
package require json
package require json::write
package require base64

fconfigure stdout -encoding utf-8
json::write indented false

# Returns the value at a path; an error if the path ends early.
proc at {value path} {
    foreach step [split $path .] {
        if {[string match "*.$step.\\?" $path]} {
            # a nil element is an empty text
            return [expr {![dict exists $value $step] ? "absent" : [dict get $value $step] eq {} ? "nil" : "value"}]
        } elseif {$step eq "#"} {
            return [llength $value]
        } elseif {[string is integer $step]} {
            set value [lindex $value $step]
        } elseif {[string match "*$step.#" $path] && $value eq {}} {
            # an array without an item is empty
            return 0
        } else {
            set value [dict get $value $step]
        }
    }
    return $value
}

# Returns the value at a path as JSON; null if there is none.
proc printed {data path} {
    if {[catch {at $data $path} value]} {
        return null
    }
    if {[string match *DocumentBytes $path]} {
        set bytes [base64::decode $value]
        set value "[string range $bytes 0 3] [string length $bytes]"
    }
    return [json::write string $value]
}

proc say {situation operation member value} {
    puts [json::write object \
        situation [json::write string $situation] operation [json::write string $operation] $member $value]
}

lassign $argv wsdl
set service [dict get [WS::Client::GetAndParseWsdl $wsdl] name]
say import {} got {[]}

set file [open $env(CHECKS)]
fconfigure $file -encoding utf-8
set credentials {ApiUserId demo ApiUserKey demo-key}
foreach check [json::json2dict [read $file]] {
    dict with check {
        set address [expr {$situation eq "fault" ? $env(FAULT_ENDPOINT) : $env(ENDPOINT)}]
        WS::Client::Config $service location $address
        set inputs [dict merge [dict create Authentication $credentials] $input]
        if {[catch {WS::Client::DoCall $service $operation $inputs} reply options]} {
            set error [dict get $options -errorcode]
            if {$situation ne "fault"} {
                say $situation $operation error [json::write string "$error: $reply"]
                continue
            }
            set code [lindex [split [lindex $error end] :] end]
            set data [dict create code $code message $reply]
        } else {
            set data [dict get $reply Data]
        }
        say $situation $operation got [json::write array {*}[lmap path [dict keys $read] {printed $data $path}]]
    }
}
