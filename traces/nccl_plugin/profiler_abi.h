// NCCL's profiler plugin interface, versions 4, 5 and 6, as far as the plugin uses it.
//
// The fields of an event have the same offsets in all three; version 4 has an 8-bit type and
// ends earlier. `abi.c` asserts the offsets. Nothing here is NCCL's code.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
  PROFILE_GROUP = 1 << 0,  // one kernel plan
  PROFILE_COLL = 1 << 1,
  PROFILE_P2P = 1 << 2,
  PROFILE_KERNEL_CHANNEL = 1 << 6,
  PROFILE_GROUP_API = 1 << 8,  // from version 5 on
  PROFILE_COLL_API = 1 << 9,
  PROFILE_P2P_API = 1 << 10,
  PROFILE_KERNEL_LAUNCH = 1 << 11,
  PROFILE_CE_COLL = 1 << 12,  // from version 6 on
};
enum {
  PROFILE_MASK_V4 = (1 << 8) - 1,
  PROFILE_MASK_V5 = (1 << 12) - 1,
};

typedef struct {
  uint64_t number;
  const char* function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  const char* dtype;
  uint8_t channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* group;  // from version 5 on
} profile_coll;

typedef struct {
  const char* function;
  void* buffer;
  const char* dtype;
  size_t count;
  int peer;
  uint8_t channels;
  void* group;  // from version 5 on
} profile_p2p;

typedef struct {
  const char* function;
  size_t count;
  const char* dtype;
  int root;
  void* stream;
  uint8_t captured;
} profile_coll_api;

typedef struct {
  const char* function;
  size_t count;
  const char* dtype;
  void* stream;
  uint8_t captured;
} profile_p2p_api;

typedef struct {
  uint64_t number;
  const char* function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  const char* dtype;
} profile_ce_coll;

// What startEvent gets: 112 bytes, 104 in version 4.
typedef struct {
  uint64_t type;  // 8 bits in version 4
  void* parent;
  int rank;
  union {
    profile_coll coll;
    profile_p2p p2p;
    profile_coll_api coll_api;
    profile_p2p_api p2p_api;
    profile_ce_coll ce_coll;
    uint8_t bytes[88];
  };
} profile_event;
enum { PROFILE_EVENT_BYTES_V4 = 104 };

typedef int profile_result;  // 0: success
typedef void (*profile_logger)(int level, unsigned long flags, const char* file, int line,
                               const char* format, ...);

// The table that a plugin exports as `ncclProfiler_v<N>`.
typedef struct {
  const char* name;
  profile_result (*init)(void** context, int* mask, const char* name, uint64_t id, int nodes,
                         int ranks, int rank, profile_logger logger);
  profile_result (*start)(void* context, void** handle, profile_event* event);
  profile_result (*stop)(void* handle);
  profile_result (*record_state)(void* handle, int state, void* arguments);
  profile_result (*finalize)(void* context);
} profile_table_v4;

typedef struct {
  const char* name;
  profile_result (*init)(void** context, uint64_t id, int* mask, const char* name, int nodes,
                         int ranks, int rank, profile_logger logger);
  profile_result (*start)(void* context, void** handle, profile_event* event);
  profile_result (*stop)(void* handle);
  profile_result (*record_state)(void* handle, int state, void* arguments);
  profile_result (*finalize)(void* context);
} profile_table_v5;
