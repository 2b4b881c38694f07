/** A document for the upload, and a summary of the returned document. */
final class Upload {
    private Upload() {}

    /** Returns the bytes that the harness expects. */
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

    /** Returns the length and a position-dependent checksum. */
    private static String told(byte[] bytes) {
        long sum = 0;
        for (int i = 0; i < bytes.length; i++) {
            sum = (sum + (i + 1L) * (bytes[i] & 0xff)) % 1_000_003;
        }
        return bytes.length + " " + sum;
    }
}
