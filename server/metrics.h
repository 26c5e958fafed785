/* SPDX-License-Identifier: Apache-2.0
 *
 * /metrics: the state of server and ingest process in the text format of Prometheus (version 0.0.4). Names begin with afterglow_, units are in names, counts that only grow end with _total. Labels have few
 * values each: routes are patterns, reasons and states are words of ours, places are those of the settings; no run, no path, no user.
 *
 * What grows since the server's start: answers, loads and what went wrong with them (base/worker_counts.h: a new ingest process counts on). What is read when it is asked for: the catalogue, /proc, the pools. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "server/api_context.h"

enum err_code metrics_respond(struct api_ctx *ctx, struct response *response, struct err *err) WARN_UNUSED;

#endif
