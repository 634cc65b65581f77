/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: services with what their owners say about traffic, and their instances with where they
 * are. What is routed is decided here, for whoever shows or renders it.
 */
#ifndef SERVICE_ROUTES_ROUTES_H
#define SERVICE_ROUTES_ROUTES_H

#include "service/life/instance.h"

/* One that runs. Texts may be empty where they are not known. */
struct route_instance {
	uint32_t index;
	enum presence presence;
	struct str id, address, worker, zone;
	const int32_t *ports;
	size_t n_ports;
	int64_t revision; /* 0: not known */
	uint64_t tag;
	bool is_ready, is_stopping;
};

struct route_service {
	struct str name, domain;
	struct str routes;                      /* JSON, as its owner wrote it; empty: none */
	struct str labels;                      /* "key=value\n", sorted */
	uint64_t tag;                           /* of the last change of anything here */
	const struct route_instance *instances; /* by index and presence */
	size_t n;
};

/*
 * Whether traffic goes to the n-th: it is ready, has a place, was not told to stop, and is not
 * evacuating or suspect while an ordinary one of its index is ready.
 */
bool route_is_routed(const struct route_service *s, size_t nth);
/* An object of the list of services. */
void route_service_json(const struct route_service *s, struct buf *b);
/* The same in pieces: all before its instances, with the [; and so many of these, with commas. */
void route_service_head(const struct route_service *s, struct buf *b);
void route_instances_json(const struct route_service *s, struct buf *b);
/*
 * Items of Prometheus' HTTP service discovery, each port of each instance that has an address:
 * {"targets":["10.0.0.1:9100"],"labels":{"__meta_reeve_service":"web",…}}. They follow each other
 * with commas; the caller writes [ and ].
 */
void route_prometheus_json(const struct route_service *s, struct buf *b);

#endif
