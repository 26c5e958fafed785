// SPDX-License-Identifier: Apache-2.0
// Reads a zip archive from its front, as Java clients of a History Server do, and prints of each entry: name, length, CRC-32 of what was read.
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

class ReadZip {
    public static void main(String[] arguments) throws Exception {
        byte[] piece = new byte[65536];
        try (ZipInputStream zip = new ZipInputStream(new BufferedInputStream(new FileInputStream(arguments[0])))) {
            for (ZipEntry entry; (entry = zip.getNextEntry()) != null;) {
                CRC32 crc = new CRC32();
                long length = 0;
                for (int n; (n = zip.read(piece)) >= 0; length += n) crc.update(piece, 0, n);
                System.out.println(entry.getName() + " " + length + " " + crc.getValue());
            }
        }
    }
}
