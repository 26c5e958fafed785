// SPDX-License-Identifier: Apache-2.0
// A name node and a data node in one, over a folder: LISTSTATUS_BATCH (two names an answer), GETFILESTATUS, OPEN by way of a redirect, DELETE of what is not a full directory, as Hadoop 3.4.1 answers them.
import { openSync, readFileSync, readSync, closeSync, readdirSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";

const BATCH = 2;

const fail = (answer, status, exception, message = exception) => {
  answer.writeHead(status, { "Content-Type": "application/json" });
  answer.end(JSON.stringify({ RemoteException: { exception, javaClassName: `org.apache.hadoop.${exception}`, message } }));
};

function statusOf(folder, name, extra) {
  const st = statSync(join(folder, name));
  return {
    accessTime: 0, blockSize: 134217728, childrenNum: 0, fileId: st.ino, group: "g", length: st.isDirectory() ? 0 : st.size, modificationTime: Math.trunc(st.mtimeMs), owner: "o",
    pathSuffix: name, permission: "644", replication: 1, storagePolicy: 0, type: st.isDirectory() ? "DIRECTORY" : "FILE", ...extra?.(name, st),
  };
}

function remove(file) {
  const st = statSync(file, { throwIfNoEntry: false });
  if (st) (st.isDirectory() ? rmdirSync : unlinkSync)(file);
  return Boolean(st);
}

/**
 * @param {{ root: string, port?: number, status?: (name: string, st: object) => object, names?: string[], mayDelete?: boolean, tls?: {certificate: string, key: string}, nodes?: string, held?: (path: string, offset: number) => Promise<void> | undefined }} how  status: what else, or other, it says of a file; names: more that are in every folder;
 *   tls: files of a certificate and its key, https then; nodes: where data nodes are, instead of here;
 *   held: what bytes of a file from an offset on wait for
 * @returns {Promise<{ port: number, asked: string[], tokens: string[], standby: (on: boolean) => void, stop: () => Promise<void> }>}
 */
export async function startWebhdfs({ root, port = 0, status, names = [], mayDelete = true, tls, nodes, held }) {
  const asked = [];
  const tokens = []; // a delegation token, or the user, of each question
  let isStandby = false;
  const respond = async (request, answer) => {
    const url = new URL(request.url, "http://x");
    const op = url.searchParams.get("op");
    const path = decodeURIComponent(url.pathname).replace(/^\/webhdfs\/v1/, "");
    asked.push(`${op} ${path}`);
    tokens.push(url.searchParams.get("delegation") ?? url.searchParams.get("user.name"));
    if (isStandby) return fail(answer, 403, "StandbyException", "Operation category READ is not supported in state standby");
    try {
      if (op === "GETFILESTATUS") return answer.end(JSON.stringify({ FileStatus: { ...statusOf(root, path, status && ((_, st) => status(path.split("/").at(-1), st))), pathSuffix: "" } }));
      if (op === "LISTSTATUS_BATCH") {
        const after = url.searchParams.get("startAfter") ?? "";
        const all = readdirSync(join(root, path)).sort().filter((name) => name > after);
        const more = after ? [] : names.map((pathSuffix) => ({ fileId: 1, length: 5, modificationTime: 1, pathSuffix, type: "FILE" }));
        const FileStatus = [...more, ...all.slice(0, BATCH).map((name) => statusOf(join(root, path), name, status))];
        return answer.end(JSON.stringify({ DirectoryListing: { partialListing: { FileStatuses: { FileStatus } }, remainingEntries: Math.max(0, all.length - BATCH) } }));
      }
      if (op === "OPEN" && !url.searchParams.has("datanode")) {
        answer.writeHead(307, { Location: `${nodes ?? `http${tls ? "s" : ""}://127.0.0.1:${server.address().port}`}${request.url}&datanode=1`, "Content-Length": 0 });
        return answer.end();
      }
      if (op === "DELETE") {
        if (request.method !== "DELETE" || url.searchParams.get("recursive") !== "false") return fail(answer, 400, "IllegalArgumentException");
        if (!mayDelete) return fail(answer, 403, "AccessControlException", 'Permission denied: user=me, access=WRITE, inode="/":hdfs:hdfs:drwxr-xr-x');
        return answer.end(JSON.stringify({ boolean: remove(join(root, path)) }));
      }
      const offset = Number(url.searchParams.get("offset") ?? 0);
      await held?.(path, offset);
      const { size } = statSync(join(root, path));
      const bytes = Buffer.alloc(Math.max(0, Math.min(size - offset, Number(url.searchParams.get("length") ?? Infinity))));
      const fd = openSync(join(root, path));
      readSync(fd, bytes, 0, bytes.length, offset);
      closeSync(fd);
      answer.writeHead(200, { "Content-Length": bytes.length });
      answer.end(bytes);
    } catch (error) {
      if (error.code === "ENOTEMPTY") return fail(answer, 403, "PathIsNotEmptyDirectoryException", `\`${path} is non empty': Directory is not empty`);
      fail(answer, error.code === "ENOENT" || error.code === "ENOTDIR" ? 404 : 500, error.code === "ENOENT" || error.code === "ENOTDIR" ? "FileNotFoundException" : "IOException", `File ${path}`);
    }
  };
  const server = tls ? createSecureServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, respond) : createServer(respond);
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return {
    port: server.address().port,
    asked,
    tokens,
    standby: (on) => (isStandby = on),
    stop: () =>
      new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      }),
  };
}
