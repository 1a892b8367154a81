#include "traces/nccl_plugin/chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int use(profile_chain* chain, void* library, uint32_t version) {
  char name[32];
  snprintf(name, sizeof name, "ncclProfiler_v%u", version);
  const void* table = dlsym(library, name);
  if (!table) return 0;
  chain->version = version;
  if (version == 4) chain->v4 = table;
  if (version > 4) chain->v5 = table;
  return 1;
}

const char* chain_load(profile_chain* chain, uint32_t version) {
  const char* path = getenv("HOSTIR_NCCL_CHAIN");
  if (chain->version != 0 || !path || !*path) return NULL;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  // NCCL's own version, older ones, then newer ones, whose further events never come.
  for (uint32_t v = version; v >= 4; --v) {
    if (use(chain, library, v)) return NULL;
  }
  for (uint32_t v = version + 1; v <= 6; ++v) {
    if (use(chain, library, v)) return NULL;
  }
  dlclose(library);
  return "it exports none of ncclProfiler_v4, v5 and v6";
}

profile_result chain_init(const profile_chain* chain, const profile_communicator* communicator,
                          void** context, int* mask) {
  const profile_communicator* c = communicator;
  const profile_result result =
      chain->v4
          ? chain->v4->init(context, mask, c->name, c->id, c->nodes, c->ranks, c->rank, c->logger)
          : chain->v5->init(context, c->id, mask, c->name, c->nodes, c->ranks, c->rank, c->logger);
  if (chain->version == 4) *mask &= PROFILE_MASK_V4;
  if (chain->version == 5) *mask &= PROFILE_MASK_V5;
  return result;
}

profile_result chain_start(const profile_chain* chain, void* context, void** handle,
                           const profile_event* event, void* parent) {
  profile_event copy = *event;
  copy.parent = parent;
  return chain->v4 ? chain->v4->start(context, handle, &copy)
                   : chain->v5->start(context, handle, &copy);
}

profile_result chain_stop(const profile_chain* chain, void* handle) {
  return chain->v4 ? chain->v4->stop(handle) : chain->v5->stop(handle);
}

profile_result chain_record_state(const profile_chain* chain, void* handle, int state,
                                  void* arguments) {
  return chain->v4 ? chain->v4->record_state(handle, state, arguments)
                   : chain->v5->record_state(handle, state, arguments);
}

profile_result chain_finalize(const profile_chain* chain, void* context) {
  return chain->v4 ? chain->v4->finalize(context) : chain->v5->finalize(context);
}
