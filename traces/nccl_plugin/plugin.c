// libhostir_nccl.so: what NCCL calls. Every call becomes a record (ring.h) when it is enqueued.
//
// From version 5 on, an API event begins the record at the call and the event of the launch
// completes it; in version 4 only the launch is seen. Events of kernel channels say when the GPU
// starts and ends it. Handles are numbers of nodes, not pointers: nodes are reused in a ring, so
// that nothing is allocated or locked, and a handle that is too old is recognised.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "traces/nccl_plugin/chain.h"
#include "traces/nccl_plugin/python_frames.h"
#include "traces/nccl_plugin/ring_file.h"

_Static_assert(offsetof(profile_event, parent) == 8 && offsetof(profile_event, rank) == 16, "ABI");
_Static_assert(offsetof(profile_event, coll) == 24 && sizeof(profile_event) == 112, "ABI");
_Static_assert(offsetof(profile_event, coll.count) == 56, "ABI");
_Static_assert(offsetof(profile_event, coll.dtype) == 72, "ABI");
_Static_assert(offsetof(profile_event, coll.algorithm) == 88, "ABI");
_Static_assert(offsetof(profile_event, coll.group) == 104, "ABI");
_Static_assert(offsetof(profile_event, p2p.count) == 48, "ABI");
_Static_assert(offsetof(profile_event, p2p.channels) == 60, "ABI");
_Static_assert(offsetof(profile_event, p2p.group) == 64, "ABI");
_Static_assert(offsetof(profile_event, coll_api.stream) == 56, "ABI");
_Static_assert(offsetof(profile_event, coll_api.captured) == 64, "ABI");
_Static_assert(offsetof(profile_event, p2p_api.stream) == 48, "ABI");
_Static_assert(offsetof(profile_event, p2p_api.captured) == 56, "ABI");
_Static_assert(offsetof(profile_event, ce_coll.dtype) == 72, "ABI");

#define NO_RECORD UINT64_MAX
enum { kNodes = 1 << 16 };

// A communicator that NCCL has announced.
typedef struct {
  uint32_t version;
  uint32_t index;  // in the file; UINT32_MAX: it has no entry
  uint64_t collectives;
  void* chained;  // context of the other plugin; NULL: it is not called
  int chained_mask;
} communicator;

typedef struct {
  uint64_t stamp;   // number + 1; 0: it is being written
  uint64_t record;  // NO_RECORD: the event has none
  uint64_t type;
  void* chained;  // handle of the other plugin, or NULL
} node;

static pthread_mutex_t init_mutex = PTHREAD_MUTEX_INITIALIZER;
static ring_file ring;
static profile_chain chain;
static node nodes[kNodes];
static uint64_t nodes_claimed;
static int frames_wanted;

static void* add_node(uint64_t type, uint64_t record, void* chained) {
  const uint64_t number = __atomic_fetch_add(&nodes_claimed, 1, __ATOMIC_RELAXED);
  node* added = &nodes[number % kNodes];
  __atomic_store_n(&added->stamp, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&added->record, record, __ATOMIC_RELAXED);
  __atomic_store_n(&added->type, type, __ATOMIC_RELAXED);
  __atomic_store_n(&added->chained, chained, __ATOMIC_RELAXED);
  __atomic_store_n(&added->stamp, number + 1, __ATOMIC_RELEASE);
  return (void*)(uintptr_t)(number + 1);
}

// A copy of the node; its type is 0 if the handle is NULL or too old.
static node find_node(const void* handle) {
  node found = {0, NO_RECORD, 0, NULL};
  const uint64_t stamp = (uint64_t)(uintptr_t)handle;
  if (stamp == 0) return found;
  node* at = &nodes[(stamp - 1) % kNodes];
  if (__atomic_load_n(&at->stamp, __ATOMIC_ACQUIRE) != stamp) return found;
  node copy = {stamp, __atomic_load_n(&at->record, __ATOMIC_RELAXED),
               __atomic_load_n(&at->type, __ATOMIC_RELAXED),
               __atomic_load_n(&at->chained, __ATOMIC_RELAXED)};
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&at->stamp, __ATOMIC_RELAXED) == stamp ? copy : found;
}

static hostir_ring_record* record_of(uint64_t number) {
  return number == NO_RECORD ? NULL : ring_find(&ring, number);
}

static int32_t this_thread(void) {
  static _Thread_local int32_t cached;
  if (cached == 0) cached = (int32_t)syscall(SYS_gettid);
  return cached;
}

// Begins a record with the fields that every call has.
static uint64_t begin_record(const communicator* c, uint8_t kind, const char* function,
                             uint64_t count, const char* dtype, hostir_ring_record** out) {
  const uint64_t number = ring_claim(&ring, out);
  hostir_ring_record* record = *out;
  record->communicator = c->index;
  record->kind = kind;
  record->count = count;
  record->nccl_number = UINT64_MAX;
  record->root = -1;
  record->peer = -1;
  record->issued_ns = ring_now();
  record->thread = this_thread();
  ring_copy_text(record->function, sizeof record->function, function);
  ring_copy_text(record->dtype, sizeof record->dtype, dtype);
  char* frames = ring_frames(&ring, record);
  if (frames) python_frames_write(frames, ring.header->frame_bytes, frames_wanted);
  return number;
}

static uint64_t next_collective(communicator* c) {
  return __atomic_add_fetch(&c->collectives, 1, __ATOMIC_RELAXED);
}

static uint8_t p2p_kind(const char* function) {
  return function && strcmp(function, "Recv") == 0 ? HOSTIR_RING_RECV : HOSTIR_RING_SEND;
}

static uint64_t start_coll_api(communicator* c, const profile_event* event) {
  hostir_ring_record* record;
  const profile_coll_api* call = &event->coll_api;
  const uint64_t number =
      begin_record(c, HOSTIR_RING_COLLECTIVE, call->function, call->count, call->dtype, &record);
  record->number = next_collective(c);
  record->root = call->root;
  record->group = (uint64_t)(uintptr_t)event->parent;
  record->stream = (uint64_t)(uintptr_t)call->stream;
  record->flags = call->captured ? HOSTIR_RING_CAPTURED : 0;
  ring_publish(record, number);
  return number;
}

static uint64_t start_p2p_api(const communicator* c, const profile_event* event) {
  hostir_ring_record* record;
  const profile_p2p_api* call = &event->p2p_api;
  const uint64_t number =
      begin_record(c, p2p_kind(call->function), call->function, call->count, call->dtype, &record);
  record->group = (uint64_t)(uintptr_t)event->parent;
  record->stream = (uint64_t)(uintptr_t)call->stream;
  record->flags = call->captured ? HOSTIR_RING_CAPTURED : 0;
  ring_publish(record, number);
  return number;
}

// The record that the call began, if this is its first launch.
static hostir_ring_record* called(const node* parent, uint64_t api_type) {
  hostir_ring_record* record = parent->type == api_type ? record_of(parent->record) : NULL;
  return record && !(record->flags & HOSTIR_RING_LAUNCHED) ? record : NULL;
}

static void launched(hostir_ring_record* record) {
  record->launched_ns = ring_now();
  record->flags |= HOSTIR_RING_LAUNCHED;
}

static uint64_t start_coll(communicator* c, const profile_event* event, const node* parent,
                           int copy_engine) {
  const profile_coll* call = &event->coll;  // a copy engine's name begins alike
  hostir_ring_record* record = called(parent, PROFILE_COLL_API);
  uint64_t number = parent->record;
  const int added = record == NULL;
  if (added) {
    number =
        begin_record(c, HOSTIR_RING_COLLECTIVE, call->function, call->count, call->dtype, &record);
    record->number = next_collective(c);
    record->root = call->root;
    record->group = (uint64_t)(uintptr_t)event->parent;
  }
  record->nccl_number = call->number;
  if (!copy_engine) {
    record->channels = call->channels;
    record->warps = call->warps;
  }
  ring_copy_text(record->algorithm, sizeof record->algorithm, copy_engine ? "CE" : call->algorithm);
  ring_copy_text(record->protocol, sizeof record->protocol, copy_engine ? "" : call->protocol);
  launched(record);
  if (added) ring_publish(record, number);
  return number;
}

static uint64_t start_p2p(const communicator* c, const profile_event* event, const node* parent) {
  const profile_p2p* call = &event->p2p;
  hostir_ring_record* record = called(parent, PROFILE_P2P_API);
  uint64_t number = parent->record;
  const int added = record == NULL;
  if (added) {
    number = begin_record(c, p2p_kind(call->function), call->function, call->count, call->dtype,
                          &record);
    record->group = (uint64_t)(uintptr_t)event->parent;
  }
  record->peer = call->peer;
  record->channels = call->channels;
  launched(record);
  if (added) ring_publish(record, number);
  return number;
}

static void start_channel(hostir_ring_record* record) {
  if (!record) return;
  int64_t unset = 0;
  __atomic_compare_exchange_n(&record->started_ns, &unset, ring_now(), 0, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  __atomic_add_fetch(&record->channels_started, 1, __ATOMIC_RELEASE);
}

static void stop_channel(hostir_ring_record* record) {
  if (!record) return;
  const uint32_t stopped = __atomic_add_fetch(&record->channels_stopped, 1, __ATOMIC_ACQ_REL);
  const uint32_t started = __atomic_load_n(&record->channels_started, __ATOMIC_RELAXED);
  if (stopped >= started && stopped >= record->channels)
    __atomic_store_n(&record->finished_ns, ring_now(), __ATOMIC_RELEASE);
}

// The event's record. `is_ours`: the event is needed later, as a parent or to be stopped.
static uint64_t start_record(communicator* c, const profile_event* event, uint64_t type,
                             const node* parent, int* is_ours) {
  *is_ours = ring.header != NULL && c->index != UINT32_MAX;
  if (!*is_ours) return NO_RECORD;
  switch (type) {
    case PROFILE_GROUP:
    case PROFILE_GROUP_API:
      return NO_RECORD;
    case PROFILE_COLL_API:
      return start_coll_api(c, event);
    case PROFILE_P2P_API:
      return start_p2p_api(c, event);
    case PROFILE_COLL:
      return start_coll(c, event, parent, 0);
    case PROFILE_CE_COLL:
      return start_coll(c, event, parent, 1);
    case PROFILE_P2P:
      return start_p2p(c, event, parent);
    case PROFILE_KERNEL_CHANNEL:
      start_channel(record_of(parent->record));
      return parent->record;
    default:
      *is_ours = 0;
      return NO_RECORD;
  }
}

static profile_result on_start(void* context, void** handle, profile_event* given) {
  communicator* c = context;
  *handle = NULL;
  if (!c) return 0;
  profile_event event;
  memset(&event, 0, sizeof event);
  memcpy(&event, given, c->version == 4 ? PROFILE_EVENT_BYTES_V4 : sizeof event);
  if (c->version == 4) event.type &= 0xff;
  const node parent = find_node(event.parent);
  int is_ours = 0;
  const uint64_t record = start_record(c, &event, event.type, &parent, &is_ours);
  void* chained = NULL;
  if (c->chained && ((uint64_t)c->chained_mask & event.type) != 0) {
    // The other plugin does not know our handles, so pass its own.
    void* above = parent.chained;
    if (event.type == PROFILE_COLL && c->version > 4) {
      event.coll.group = find_node(event.coll.group).chained;
      if (chain.version == 4) above = event.coll.group;
    } else if (event.type == PROFILE_P2P && c->version > 4) {
      event.p2p.group = find_node(event.p2p.group).chained;
      if (chain.version == 4) above = event.p2p.group;
    }
    if (chain_start(&chain, c->chained, &chained, &event, above) != 0) chained = NULL;
  }
  if (is_ours || chained) *handle = add_node(event.type, record, chained);
  return 0;
}

static profile_result on_stop(void* handle) {
  const node stopped = find_node(handle);
  if (stopped.type == PROFILE_KERNEL_CHANNEL) stop_channel(record_of(stopped.record));
  return stopped.chained ? chain_stop(&chain, stopped.chained) : 0;
}

static profile_result on_state(void* handle, int state, void* arguments) {
  const node changed = find_node(handle);
  return changed.chained ? chain_record_state(&chain, changed.chained, state, arguments) : 0;
}

static profile_result on_finalize(void* context) {
  communicator* c = context;
  if (!c) return 0;
  if (ring.header && c->index != UINT32_MAX)
    __atomic_store_n(&ring.communicators[c->index].finalized_ns, ring_now(), __ATOMIC_RELEASE);
  const profile_result result = c->chained ? chain_finalize(&chain, c->chained) : 0;
  free(c);
  return result;
}

static void complain(profile_logger logger, const char* what, const char* why) {
  enum { kWarning = 2 };
  if (logger) logger(kWarning, ~0UL, __FILE__, __LINE__, "hostir: %s: %s", what, why);
}

static profile_result begin(void** context, int* mask, const profile_communicator* from,
                            uint32_t version) {
  communicator* c = calloc(1, sizeof *c);
  *context = c;
  if (!c) return 1;
  c->version = version;
  c->index = UINT32_MAX;
  pthread_mutex_lock(&init_mutex);
  if (!ring.header) {
    frames_wanted = python_frames_wanted();
    if (frames_wanted > 0) python_frames_load();
    const char* why = ring_open(&ring, version, (uint32_t)frames_wanted * PYTHON_FRAME_BYTES);
    if (why) complain(from->logger, "no record is kept", why);
  }
  const char* why = chain_load(&chain, version);
  if (why) complain(from->logger, "HOSTIR_NCCL_CHAIN", why);
  pthread_mutex_unlock(&init_mutex);
  if (ring.header) {
    c->index =
        ring_add_communicator(&ring, from->id, from->name, from->rank, from->ranks, from->nodes);
    int wanted = PROFILE_GROUP | PROFILE_COLL | PROFILE_P2P | PROFILE_KERNEL_CHANNEL;
    if (version > 4) wanted |= PROFILE_GROUP_API | PROFILE_COLL_API | PROFILE_P2P_API;
    if (version > 5) wanted |= PROFILE_CE_COLL;
    *mask |= wanted;
  }
  if (chain.version != 0) {
    if (chain_init(&chain, from, &c->chained, &c->chained_mask) != 0) c->chained = NULL;
    if (c->chained) *mask |= c->chained_mask;
  }
  return 0;
}

static profile_result init_v4(void** context, int* mask, const char* name, uint64_t id, int nodes_,
                              int ranks, int rank, profile_logger logger) {
  const profile_communicator from = {id, name, nodes_, ranks, rank, logger};
  return begin(context, mask, &from, 4);
}

static profile_result init_v5(void** context, uint64_t id, int* mask, const char* name, int nodes_,
                              int ranks, int rank, profile_logger logger) {
  const profile_communicator from = {id, name, nodes_, ranks, rank, logger};
  return begin(context, mask, &from, 5);
}

static profile_result init_v6(void** context, uint64_t id, int* mask, const char* name, int nodes_,
                              int ranks, int rank, profile_logger logger) {
  const profile_communicator from = {id, name, nodes_, ranks, rank, logger};
  return begin(context, mask, &from, 6);
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED const profile_table_v4 ncclProfiler_v4 = {"hostir", init_v4,  on_start,
                                                   on_stop,  on_state, on_finalize};
EXPORTED const profile_table_v5 ncclProfiler_v5 = {"hostir", init_v5,  on_start,
                                                   on_stop,  on_state, on_finalize};
EXPORTED const profile_table_v5 ncclProfiler_v6 = {"hostir", init_v6,  on_start,
                                                   on_stop,  on_state, on_finalize};
