/* SPDX-License-Identifier: MIT */
/*
 * The main of a fuzz target where no fuzzer is built in: runs it on each file that is named, or on
 * its corpus, tests/fuzz/corpus/NAME for the program fuzz_NAME.
 * Does not look for new inputs: libFuzzer does, see --enable-fuzzers.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, long size)
{
    FILE *file = fopen(path, "rb");
    /* exactly as large as the input, so that a sanitizer sees one byte too many */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    int failed = file == NULL || data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size;

    if (failed)
        perror(path);
    else
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    if (file != NULL)
        fclose(file);
    return failed ? -1 : 1;
}

/* The number of files replayed, or -1. */
static int replay(const char *path)
{
    struct stat attributes;
    struct dirent *entry;
    int count = 0;
    DIR *folder;

    if (stat(path, &attributes) != 0) {
        perror(path);
        return -1;
    }
    if (!S_ISDIR(attributes.st_mode))
        return replay_file(path, (long)attributes.st_size);
    folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        return -1;
    }
    while (count >= 0 && (entry = readdir(folder)) != NULL) {
        char name[4096];
        int done;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        done = replay(name);
        count = done < 0 ? -1 : count + done;
    }
    closedir(folder);
    return count;
}

static int replay_corpus(const char *program)
{
    const char *name = strstr(program, "fuzz_"), *folder = getenv("srcdir");
    char path[4096];

    if (name == NULL) {
        fprintf(stderr, "%s: name the files to replay\n", program);
        return -1;
    }
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", folder == NULL ? "." : folder,
             name + strlen("fuzz_"));
    return replay(path);
}

int main(int argc, char **argv)
{
    int total = 0;

    for (int i = 1; i < argc; i++) {
        int count = replay(argv[i]);

        if (count < 0)
            return 1;
        total += count;
    }
    if (argc == 1)
        total = replay_corpus(argv[0]);
    printf("%s: %d inputs\n", argv[0], total);
    return total > 0 ? 0 : 1; /* an empty corpus tests nothing */
}
