#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed;
static int failed;

void check_at(const char* file, int line, bool holds, const char* text, const char* detail) {
  if (holds) {
    ++passed;
    return;
  }
  ++failed;
  printf("%s:%d: failed: %s\n", file, line, text);
  if (detail) printf("  %.2000s\n", detail);
}

int finish_checks(void) {
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

bool has(const char* answer, const char* text) { return answer && strstr(answer, text) != NULL; }

int64_t number_of(const char* answer, const char* name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char* at = answer ? strstr(answer, key) : NULL;
  return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}
