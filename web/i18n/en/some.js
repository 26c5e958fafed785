// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** So many of it, in the right number. @param {number} n @param {string} one @param {string} [many] */
export const some = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
