mod fixture;
mod isolation;
mod limits;
mod modules;
mod requests;
mod scripts;
mod styles;
mod web;
