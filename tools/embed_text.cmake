# SPDX-License-Identifier: Apache-2.0
# Turns a text file into a C source with one string, `const char NAME[]`.  cmake -DINPUT= -DNAME= -DHEADER= -DOUTPUT= -P embed_text.cmake
file(READ ${INPUT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE ${OUTPUT} "/* Made from ${INPUT}. */\n#include \"${HEADER}\"\n\nconst char ${NAME}[] =\n    \"${text}\";\n")
