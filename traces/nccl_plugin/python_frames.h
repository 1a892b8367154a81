// Where in the job's Python program a call is made.
//
// The plugin is not linked with Python: what it needs of it is looked up in the process. Only a
// thread that holds the interpreter's lock is asked for its frames, and the lock is never taken,
// because waiting for it inside NCCL could stall the job.
#pragma once

#include <stddef.h>

enum { PYTHON_MOST_FRAMES = 32, PYTHON_FRAME_BYTES = 128 };

// The number of frames that $HOSTIR_NCCL_FRAMES asks for, at most PYTHON_MOST_FRAMES; 0: none.
int python_frames_wanted(void);
// Looks up Python's functions; without them no frame is written. Once, before the others.
void python_frames_load(void);
// Writes "file:line function\n" for each of the innermost `most` frames of this thread that fits,
// and a zero.
void python_frames_write(char* target, size_t size, int most);
