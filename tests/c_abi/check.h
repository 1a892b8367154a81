// Counted checks, and helpers for JSON and .npy files.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hostir.h"

// Counts a check. If it does not hold, prints the line and `detail` (may be NULL).
void check_at(const char* file, int line, bool holds, const char* text, const char* detail);
#define CHECK(holds) check_at(__FILE__, __LINE__, (holds), #holds, NULL)
// Evaluates `holds` first, because it may set `answer`.
#define CHECK_ANSWER(holds, answer)                         \
  do {                                                      \
    const bool holds_ = (holds);                            \
    check_at(__FILE__, __LINE__, holds_, #holds, (answer)); \
  } while (false)

// Prints `N passed, N failed`; the exit status.
int finish_checks(void);

// True if a compact JSON text has this member, as in has(answer, "\"ran\":true").
bool has(const char* answer, const char* text);

// The number behind the first "NAME":, or -1.
int64_t number_of(const char* answer, const char* name);

// Elements of a little-endian .npy file of f4 or f8, row-major; the caller frees `elements`.
typedef struct {
  int32_t ndim;
  int64_t shape[4];
  size_t count;
  double* elements;
} npy;
npy read_npy(const char* path);
