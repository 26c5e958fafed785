# SPDX-License-Identifier: Apache-2.0
"""Rows of the worked tables in ../shared/spec/findings.md 11 that the logs themselves contradict."""

# Two executors, each with "Total Cores": 1 in its ExecutorAdded: two slots. The tables have four, since tasks overlap while the driver fetches their large results, which
# happens when their core is free again (analysis/README.md, slots). What follows from the number of slots cannot be compared there.
OTHER_SLOTS = {"app-20261129205623-0000", "app-20261129214851-0000"}
