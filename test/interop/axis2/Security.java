import org.apache.axis2.AxisFault;
import screening.ScreeningApiStub;

/** Axis2 needs Rampart for WS-Security. */
final class Security {
    private Security() {}

    static ScreeningApiStub stub() throws AxisFault {
        return new ScreeningApiStub();
    }
}
