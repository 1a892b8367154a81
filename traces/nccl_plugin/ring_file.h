// The plugin's end of ring.h: the mapped file of this process.
//
// Functions may be called from any thread; none locks, allocates or calls the system, except for
// ring_open() and the reading of a clock.
#pragma once

#include <stddef.h>

#include "traces/nccl_plugin/ring.h"

typedef struct {
  hostir_ring_header* header;  // NULL: the file could not be made
  hostir_ring_communicator* communicators;
  hostir_ring_record* records;
  char* frames;  // header->frame_bytes for each record; NULL: none
} ring_file;

// Creates the file, or continues the one that this process created before. The folder is
// $HOSTIR_NCCL_DIR, else "hostir-nccl"; $HOSTIR_NCCL_RECORDS sets the capacity. A new file has
// `frame_bytes` for the frames of each record. Returns NULL, or the reason why there is no file,
// which the caller may print.
const char* ring_open(ring_file* ring, uint32_t version, uint32_t frame_bytes);

// The index of a new communicator; UINT32_MAX where the table is full.
uint32_t ring_add_communicator(ring_file* ring, uint64_t id, const char* name, int rank, int size,
                               int nodes);

// Begins a record; ring_publish() makes it visible to readers.
uint64_t ring_claim(ring_file* ring, hostir_ring_record** record);
// The text for the frames of a record; NULL: the file has none.
char* ring_frames(ring_file* ring, const hostir_ring_record* record);
void ring_publish(hostir_ring_record* record, uint64_t number);
// The record, NULL once the ring has reused its slot.
hostir_ring_record* ring_find(ring_file* ring, uint64_t number);

int64_t ring_now(void);  // CLOCK_MONOTONIC, ns
void ring_copy_text(char* target, size_t size, const char* text);
