# The service of an OpenAPI document, called with tclws: service.tcl SERVICE WSDL_URL OUT_DIR

package require WS::Client
package require json::write

fconfigure stdout -encoding utf-8
json::write indented false

proc check {situation read} {
    if {[catch {uplevel #0 $read} got]} {
        puts [json::write object situation [json::write string $situation] error [json::write string $got]]
        return
    }
    puts [json::write object situation [json::write string $situation] got [json::write array {*}$got]]
}

# The members of an item as JSON: null where there is none.
proc members {item args} {
    lmap name $args {expr {[dict exists $item $name] ? [json::write string [dict get $item $name]] : "null"}}
}

proc get {id} {
    global service
    return [dict get [WS::Client::DoCall $service getItem [dict create id $id]] Result]
}

set service [dict get [WS::Client::GetAndParseWsdl [lindex $argv 1]] name]
set item [get 1]
check read {
    set tags [dict get $item tags string]
    concat [members $item name price weight stock added expires rating returnable note] \
        [list [json::write string [llength $tags]] [json::write string [lindex $tags 1]]]
}
check change {
    dict set item name "\u00d6 & Co"
    WS::Client::DoCall $service putItem [dict create id 1 Body $item]
    members [get 1] name price weight rating
}
check fault {
    if {![catch {get 404} message options]} {error "expected a fault"}
    # tclws hands over the code and the text alone
    error "expected a detail, got [dict get $options -errorcode]: $message"
}
