// Another profiler plugin, called by ours: $HOSTIR_NCCL_CHAIN, loaded once, called as NCCL would.
//
// It may implement another version of the interface than the one through which NCCL calls us; it
// then gets only the events of its version. Threads: chain_load() from one at a time, the others
// from any.
#pragma once

#include "traces/nccl_plugin/profiler_abi.h"

typedef struct {
  const profile_table_v4* v4;  // at most one of the two
  const profile_table_v5* v5;  // also version 6
  uint32_t version;            // 0: there is none
} profile_chain;

typedef struct {
  uint64_t id;
  const char* name;
  int nodes;
  int ranks;
  int rank;
  profile_logger logger;
} profile_communicator;

// Loads the plugin that the variable names, if it is set. Returns NULL, or why it cannot be used.
const char* chain_load(profile_chain* chain, uint32_t version);

// Gets its context for a communicator and the events that it wants. If the result is not 0, the
// plugin is not called for this communicator.
profile_result chain_init(const profile_chain* chain, const profile_communicator* communicator,
                          void** context, int* mask);
// `parent`: its own handle of the event's parent.
profile_result chain_start(const profile_chain* chain, void* context, void** handle,
                           const profile_event* event, void* parent);
profile_result chain_stop(const profile_chain* chain, void* handle);
profile_result chain_record_state(const profile_chain* chain, void* handle, int state,
                                  void* arguments);
profile_result chain_finalize(const profile_chain* chain, void* context);
