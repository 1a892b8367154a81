#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void fail_reading(const char* path, const char* why) {
  fprintf(stderr, "%s: %s\n", path, why);
  exit(1);
}

npy read_npy(const char* path) {
  npy out = {0};
  FILE* file = fopen(path, "rb");
  if (!file) fail_reading(path, "cannot be read; run the test in the repository's root");
  unsigned char head[10];
  if (fread(head, 1, sizeof head, file) != sizeof head || head[6] != 1)
    fail_reading(path, "is not an .npy file of version 1");
  const size_t length = (size_t)head[8] | (size_t)head[9] << 8;
  char* text = calloc(length + 1, 1);
  if (!text || fread(text, 1, length, file) != length) fail_reading(path, "is cut");
  const int bytes = strstr(text, "'<f4'") ? 4 : strstr(text, "'<f8'") ? 8 : 0;
  char* at = strstr(text, "'shape': (");
  if (!bytes || !at || strstr(text, "'fortran_order': True")) fail_reading(path, "is of another kind");
  out.count = 1;
  for (at += strlen("'shape': ("); *at != ')' && out.ndim < 4;) {
    out.shape[out.ndim] = strtoll(at, &at, 10);
    out.count *= (size_t)out.shape[out.ndim++];
    while (*at == ',' || *at == ' ') ++at;
  }
  out.elements = malloc(out.count * sizeof(double));
  for (size_t i = 0; out.elements && i < out.count; ++i) {
    float narrow = 0;
    void* target = bytes == 4 ? (void*)&narrow : (void*)&out.elements[i];
    if (fread(target, (size_t)bytes, 1, file) != 1) fail_reading(path, "is cut");
    if (bytes == 4) out.elements[i] = (double)narrow;
  }
  free(text);
  fclose(file);
  return out;
}
