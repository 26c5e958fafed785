/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target without libFuzzer: on no input at all, and on each file of the folders (or each file) named on the command line. So that what fuzzing once
 * found stays found with plain gcc, in every test run. A folder that is not there is no fault: a new target has no corpus yet. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX_BYTES ((size_t)64 << 20)   /* corpora are committed: nothing in them comes near */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    struct stat st;
    if (fstat(fileno(file), &st) || (uint64_t)st.st_size > INPUT_MAX_BYTES) {
        fprintf(stderr, "%s: not an input\n", path);
        fclose(file);
        return -1;
    }
    /* Exactly as long as the input, so that the address sanitizer sees a read past its end. */
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size ? size : 1);
    int failed = !data || fread(data, 1, size, file) != size;
    fclose(file);
    if (failed)
        fprintf(stderr, "%s: cannot be read\n", path);
    else {
        /* If the target crashes, this line says on what. */
        fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return failed ? -1 : 0;
}

static int replay_folder(const char *folder, unsigned *ran)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, not_hidden, compare_names);
    if (count < 0)
        return errno == ENOENT ? 0 : -1;
    int failed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        failed |= replay_file(path);
        (*ran)++;
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned ran = 1;
    int failed = 0;
    uint8_t *nothing = calloc(1, 1);
    LLVMFuzzerTestOneInput(nothing, 0);
    free(nothing);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
            failed |= replay_file(argv[i]);
            ran++;
        } else
            failed |= replay_folder(argv[i], &ran);
    }
    printf("%u inputs replayed\n", ran);
    return failed ? 1 : 0;
}
