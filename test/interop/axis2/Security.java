import org.apache.axis2.AxisFault;
import screening.ScreeningApiStub;

/** Axis2 alone knows no WS-Security: Rampart does. */
final class Security {
    private Security() {}

    static ScreeningApiStub stub() throws AxisFault {
        return new ScreeningApiStub();
    }
}
