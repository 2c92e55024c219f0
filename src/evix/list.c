/* SPDX-License-Identifier: MIT */
/*
 * Walking a list while callbacks change it. The rest of a list is in list.h.
 * Not inline: gcc would warn that a list is given the address of a local variable, and it is.
 * Called by the files that run callbacks of several handles.
 */
#include "list.h"

void evix__list_walk_begin(struct list_walk *walk, struct evix_link *list)
{
    list_insert_after(list, &walk->here);
    list_append(list, &walk->end);
}

struct evix_link *evix__list_walk_next(struct list_walk *walk)
{
    struct evix_link *node = walk->here.next;
    list_remove(&walk->here);
    if (node == &walk->end) {
        list_remove(&walk->end);
        return NULL;
    }
    list_insert_after(node, &walk->here);
    return node;
}
