#!/bin/sh
# Kept for templates that name it.
exec /init "$@"
