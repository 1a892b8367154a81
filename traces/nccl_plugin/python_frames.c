#define _GNU_SOURCE
#include "traces/nccl_plugin/python_frames.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef struct python_object python_object;

// CPython's functions, 3.9 and later.
static struct {
  int (*is_initialized)(void);
  int (*holds_lock)(void);
  python_object* (*error)(void);
  void (*clear_error)(void);
  python_object* (*frame)(void);           // borrowed
  python_object* (*back)(python_object*);  // new
  python_object* (*code)(python_object*);  // new
  int (*line)(python_object*);
  python_object* (*attribute)(python_object*, const char*);  // new
  const char* (*text)(python_object*, ssize_t*);
  void (*take)(python_object*);
  void (*drop)(python_object*);
} python;
static int loaded;

int python_frames_wanted(void) {
  const char* text = getenv("HOSTIR_NCCL_FRAMES");
  const long number = text ? strtol(text, NULL, 10) : 0;
  if (number <= 0) return 0;
  return number > PYTHON_MOST_FRAMES ? PYTHON_MOST_FRAMES : (int)number;
}

// The pointer is copied as bytes: C has no cast from an object's pointer to a function's.
static int look_up(void* function, const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

void python_frames_load(void) {
  loaded =
      look_up(&python.is_initialized, "Py_IsInitialized") &&
      look_up(&python.holds_lock, "PyGILState_Check") && look_up(&python.error, "PyErr_Occurred") &&
      look_up(&python.clear_error, "PyErr_Clear") && look_up(&python.frame, "PyEval_GetFrame") &&
      look_up(&python.back, "PyFrame_GetBack") && look_up(&python.code, "PyFrame_GetCode") &&
      look_up(&python.line, "PyFrame_GetLineNumber") &&
      look_up(&python.attribute, "PyObject_GetAttrString") &&
      look_up(&python.text, "PyUnicode_AsUTF8AndSize") && look_up(&python.take, "Py_IncRef") &&
      look_up(&python.drop, "Py_DecRef");
}

// Copies an attribute of the code that is a text.
static int copy_attribute(python_object* code, const char* name, char* target, size_t size) {
  python_object* value = python.attribute(code, name);
  ssize_t length = 0;
  const char* text = value ? python.text(value, &length) : NULL;
  const int fits = text && (size_t)length < size;
  if (fits) memcpy(target, text, (size_t)length + 1);
  if (value) python.drop(value);
  if (!text) python.clear_error();
  return fits;
}

// The length of the frame's line, 0 if it does not fit or cannot be read.
static size_t write_frame(python_object* frame, char* target, size_t size) {
  char file[1024];
  char function[256];
  python_object* code = python.code(frame);
  if (!code) return 0;
  const int known = copy_attribute(code, "co_filename", file, sizeof file) &&
                    copy_attribute(code, "co_name", function, sizeof function);
  python.drop(code);
  if (!known) return 0;
  const int length = snprintf(target, size, "%s:%d %s\n", file, python.line(frame), function);
  return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

void python_frames_write(char* target, size_t size, int most) {
  *target = '\0';
  // An exception on its way would be lost by what is asked here.
  if (!loaded || !python.is_initialized() || !python.holds_lock() || python.error()) return;
  python_object* frame = python.frame();
  if (frame) python.take(frame);
  size_t written = 0;
  for (int i = 0; frame && i < most; ++i) {
    const size_t length = write_frame(frame, target + written, size - written);
    if (length == 0) {
      target[written] = '\0';
      break;
    }
    written += length;
    python_object* outer = python.back(frame);
    python.drop(frame);
    frame = outer;
  }
  if (frame) python.drop(frame);
}
