# A service, called with tclws: service.tcl SERVICE WSDL_URL OUT_DIR VERSION

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

# Returns the members of an item as JSON; null if there are none.
proc members {item args} {
    lmap name $args {expr {[dict exists $item $name] ? [json::write string [dict get $item $name]] : "null"}}
}

proc shop {} {
    proc get {id} {
        global service
        return [dict get [WS::Client::DoCall $service getItem [dict create id $id]] Result]
    }
    set ::item [get 1]
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
        # tclws returns only the code and the text
        error "expected a detail, got [dict get $options -errorcode]: $message"
    }
}

# Returns the value at a path as JSON; null if it ends early or the element is nil. With attributes, the content is the member {}.
proc at {record args} {
    foreach step $args {
        if {[string is integer -strict $step]} {
            set record [lindex $record $step]
        } elseif {[dict exists $record $step]} {
            set record [dict get $record $step]
        } else {
            return null
        }
    }
    if {[dict exists $record ::nil]} {return null}
    if {[dict exists $record {}]} {set record [dict get $record {}]}
    return [json::write string $record]
}

proc orders {} {
    # attributes in replies and requests
    ::WS::Utils::SetOption parseInAttr 1
    ::WS::Utils::SetOption genOutAttr 1
    proc call {operation inputs} {
        global service
        # the members of a header block are inputs
        set session [dict create session {{} abc} branch {{} north}]
        return [WS::Client::DoCall $service $operation [dict merge $inputs $session]]
    }
    proc get {id} {call GetOrder [dict create orderId [list {} $id]]}
    set ::reply [get 1]
    set ::order [dict get $::reply GetOrderResult]
    check read {
        set lines [dict get $order {} Line]
        list [json::write string [dict get $order id]] [at $order {} Total] [at $order {} Status] [at $order {} Placed] \
            [at $order {} Shipped] [json::write string [llength $lines]] \
            [json::write string [dict get [lindex $lines 0] quantity]] [at [lindex $lines 1] {} Price] \
            [at $order {} Card {} Last4] [at $order {} Invoice] [at $order {} Customer {} Name] \
            [at $order {} Customer {} Phone] [json::write string [dict get $order {} Customer {} Phone kind]]
    }
    check polymorphism {
        set type [dict get $order {} Customer ::type]
        list [json::write string [lindex [split $type :] end]] [at $order {} Customer {} VatId]
    }
    check list {
        set labels [dict get $order {} Labels {} string]
        list [json::write string [llength $labels]] [at [lindex $labels 0]] [at [lindex $labels 1]]
    }
    check header {list [at $reply callsLeft]}
    check any {list [at $order {} crate]}
    check fault {
        if {![catch {get 404} message options]} {error "expected a fault"}
        # tclws returns only the code and the text
        error "expected a detail, got [dict get $options -errorcode]: $message"
    }
    check {empty reply} {
        call CancelOrder [dict create orderId {{} 1}]
        list [at [get 1] GetOrderResult {} Status]
    }
}

lassign $argv name wsdl
set service [dict get [WS::Client::GetAndParseWsdl $wsdl] name]
$name
