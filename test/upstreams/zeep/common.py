"""What the programs of this folder share: the client of a WSDL, and lines of what came of each step."""
import sys

import zeep


def client():
    """The service of the WSDL that the first argument names, and its types."""
    made = zeep.Client(sys.argv[1])
    return made.service, made


def said(step, value):
    """Prints a step and what came of it."""
    print(f"{step}\t{value}", flush=True)


def failure(call):
    """The text of the fault that a call must end with."""
    try:
        call()
    except zeep.exceptions.Fault as fault:
        return fault.message
    return "no fault"
