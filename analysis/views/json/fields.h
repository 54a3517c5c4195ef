/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgets how report.def was read last, so that it can be read another way. No guard: included before each.
 */
#undef OBJECT
#undef END
#undef TEXT
#undef TEXT_IF
#undef FLAG
#undef HEX
#undef HEX_IF
#undef ID
#undef ID_IF
#undef ID_NAME
#undef NAME_IF
#undef SITE_IF
#undef NUMBER
#undef NUMBER_IF
#undef REAL
#undef POSITION
#undef POSITION_IF
#undef WORD
#undef WORD_IF
#undef NUMBERS
#undef EACH
#undef ONE
#undef ONE_IF
#undef LIST
#undef TEXTS
#undef PART
#undef MORE_NUMBERS
#undef VERSION
