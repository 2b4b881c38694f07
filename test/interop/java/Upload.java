/** A document for the upload, and what is told of the one that came back. */
final class Upload {
    private Upload() {}

    /** Bytes by the rule of the harness. */
    static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (31 * i + 17 * (i / 256) + 7);
        }
        return bytes;
    }

    static void print(String name, byte[] content, byte[] thumbnail) {
        System.out.printf(
                "{\"situation\":\"upload\",\"got\":[\"%s\",\"%s\",\"%s\"]}%n", name, told(content), told(thumbnail));
    }

    /** How many bytes, and a sum that knows their places. */
    private static String told(byte[] bytes) {
        long sum = 0;
        for (int i = 0; i < bytes.length; i++) {
            sum = (sum + (i + 1L) * (bytes[i] & 0xff)) % 1_000_003;
        }
        return bytes.length + " " + sum;
    }
}
