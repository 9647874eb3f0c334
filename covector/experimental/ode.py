"""Ordinary differential equations."""

from .._src.experimental.ode import odeint as odeint
