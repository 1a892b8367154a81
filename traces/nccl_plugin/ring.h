// The file that libhostir_nccl.so writes: one per process, mapped into memory by it.
//
// Header, communicators, then a ring of records, all of fixed size; where Python frames were asked
// for, a text for each record follows them. The file is mapped memory:
// records survive a kill of the process, and NCCL's callbacks make no system calls. The ring keeps
// the newest `capacity` records, so that memory and disk stay bounded; a record that has been
// written is only changed to add what happened to it later. Plain C, for the plugin (C) and the
// reader (traces/import/formats/nccl_ring.h). Little-endian; unknown numbers are -1, unknown texts
// empty.
#pragma once

#include <stdint.h>

#define HOSTIR_RING_MAGIC "HIRNCCL1"
#define HOSTIR_RING_COMMUNICATORS 256

enum {
  HOSTIR_RING_COLLECTIVE = 1,
  HOSTIR_RING_SEND = 2,
  HOSTIR_RING_RECV = 3,
};

enum {
  HOSTIR_RING_CAPTURED = 1,  // into a CUDA graph: replays are not recorded
  HOSTIR_RING_LAUNCHED = 2,  // handed to the GPU
};

typedef struct {
  char magic[8];
  uint32_t header_bytes;        // offset of the communicators
  uint32_t communicator_bytes;  // size of one
  uint32_t record_bytes;        // size of one
  uint32_t plugin_version;      // of NCCL's interface: 4, 5, 6
  uint64_t capacity;            // records in the ring
  uint64_t claimed;             // records ever begun; record i is in slot i % capacity
  uint32_t communicators;       // begun so far; those beyond the table have no entry
  int32_t process;
  int32_t rank;            // of the job, as its launcher says; -1: unknown
  int32_t world;           // ranks of the job; -1: unknown
  int64_t wall_ns;         // CLOCK_REALTIME when the file was made
  int64_t monotonic_ns;    // CLOCK_MONOTONIC at the same moment; times of records are of this clock
  uint64_t process_start;  // as in /proc/PID/stat, to tell the process from a later one
  char host[64];
  char boot[40];           // /proc/sys/kernel/random/boot_id
  char pid_namespace[32];  // /proc/self/ns/pid
  // Of the text of each record's slot after the ring: "file:line function\n" per Python frame,
  // innermost first, and a zero. 0: there are none.
  uint32_t frame_bytes;
  uint8_t unused[44];
} hostir_ring_header;

typedef struct {
  uint64_t id;     // NCCL's hash of it, the same on all members
  uint32_t ready;  // 1: the other fields are written
  int32_t rank;    // in it
  int32_t size;
  int32_t nodes;
  int64_t begun_ns;
  int64_t finalized_ns;  // 0: it is still open
  char name[88];
} hostir_ring_communicator;

typedef struct {
  uint64_t stamp;         // the record's number + 1; 0: it is being written
  uint32_t communicator;  // index
  uint8_t kind;
  uint8_t channels;  // 0: not launched yet
  uint8_t flags;
  uint8_t warps;
  uint64_t number;       // collectives: from 1, counted per communicator by the plugin
  uint64_t nccl_number;  // NCCL's own, per communicator and function; UINT64_MAX: unknown
  uint64_t count;
  int32_t root;    // collectives with a root
  int32_t peer;    // sends and receives; -1 until they are launched
  uint64_t group;  // calls with the same number were issued together; 0: none
  uint64_t stream;
  int64_t issued_ns;
  int64_t launched_ns;  // 0: not yet
  int64_t started_ns;   // the first channel on the GPU, as the host saw it; 0: not yet
  int64_t finished_ns;  // the last channel; 0: not yet
  uint32_t channels_started;
  uint32_t channels_stopped;
  int32_t thread;
  int32_t unused;
  char function[16];  // "AllReduce"
  char dtype[16];     // "ncclFloat32"
  char algorithm[16];
  char protocol[8];
  uint8_t unused_tail[8];
} hostir_ring_record;
